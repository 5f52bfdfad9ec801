"""Invitations, links, requests, roles and second factors are written by functions of the owner's alone. See sql/."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0021_operation"),
        ("otp_static", "0003_add_timestamps"),
        ("otp_totp", "0003_add_timestamps"),
    ]

    operations = [migrations.RunSQL((SQL / "0022_account_functions.sql").read_text())]
