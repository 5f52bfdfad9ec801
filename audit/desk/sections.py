"""Registers the models of every section with the admin site. The addresses of the pages, ``casino.urls``,
and the check of the pages import this module."""

# ruff: noqa: F401
import audit.desk.complaints.admin
import audit.desk.corrections.admin
import audit.desk.findings.admin
import audit.desk.information.admin
import audit.desk.jobs.admin
import audit.desk.ledger.admin
import audit.desk.listings.admin
import audit.desk.nights.admin
import audit.desk.payment_orders.admin
import audit.desk.persons.admin
import audit.desk.record.failed_runs
import audit.desk.record.quarantine
import audit.desk.settings.case_contacts
import audit.desk.settings.casinos
import audit.desk.settings.deadlines
import audit.desk.settings.keys
import audit.desk.settings.officers
import audit.desk.settings.register
import audit.desk.settings.webhooks
import audit.desk.tables.admin
import audit.desk.what_if.admin
