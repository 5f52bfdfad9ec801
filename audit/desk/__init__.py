"""The officers' desk: Django's own admin over the record, where nothing can be changed that must not be.

One folder a section. ``audit.apps`` imports this package, and so registers every section with the admin site.
"""

# ruff: noqa: F401
import audit.desk.findings.admin
import audit.desk.jobs.admin
import audit.desk.nights.admin
import audit.desk.record.quarantine
import audit.desk.settings.casinos
import audit.desk.settings.officers
import audit.desk.tables.admin
import audit.desk.what_if.admin
