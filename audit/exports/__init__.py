"""Exports: lists as CSV, XLSX and PDF."""
