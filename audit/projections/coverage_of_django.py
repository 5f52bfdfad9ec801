"""What verification proves of the columns of Django and its apps: a part of ``audit/projections/coverage.py``."""

from __future__ import annotations

from collections.abc import Mapping

from audit.projections import coverage_reasons as why
from audit.projections.coverage_lines import Line, not_held

TABLES_OF_DJANGO: Mapping[str, tuple[Line, ...]] = {
    "audit_officer_groups": (not_held(why.DJANGO, "id officer_id group_id"),),
    "audit_officer_user_permissions": (not_held(why.DJANGO, "id officer_id permission_id"),),
    "auth_group": (not_held(why.DJANGO, "id name"),),
    "auth_group_permissions": (not_held(why.DJANGO, "id group_id permission_id"),),
    "auth_permission": (not_held(why.DJANGO, "id name content_type_id codename"),),
    "axes_accessattempt": (
        not_held(
            why.SIGN_IN,
            "id user_agent ip_address username http_accept path_info attempt_time get_data post_data"
            " failures_since_start",
        ),
    ),
    "axes_accessattemptexpiration": (not_held(why.SIGN_IN, "access_attempt_id expires_at"),),
    "axes_accessfailurelog": (
        not_held(why.SIGN_IN, "id user_agent ip_address username http_accept path_info attempt_time locked_out"),
    ),
    "axes_accesslog": (
        not_held(
            why.SIGN_IN, "id user_agent ip_address username http_accept path_info attempt_time logout_time session_hash"
        ),
    ),
    "django_admin_log": (
        not_held(why.DJANGO, "id action_time object_id object_repr action_flag change_message content_type_id user_id"),
    ),
    "django_celery_beat_clockedschedule": (not_held(why.UNUSED, "id clocked_time"),),
    "django_celery_beat_crontabschedule": (
        not_held(why.UNUSED, "id minute hour day_of_week day_of_month month_of_year timezone"),
    ),
    "django_celery_beat_intervalschedule": (not_held(why.UNUSED, "id every period"),),
    "django_celery_beat_periodictask": (
        not_held(
            why.UNUSED,
            "id name task args kwargs queue exchange routing_key expires enabled last_run_at total_run_count"
            " date_changed description crontab_id interval_id solar_id one_off start_time priority headers clocked_id"
            " expire_seconds",
        ),
    ),
    "django_celery_beat_periodictasks": (not_held(why.UNUSED, "ident last_update"),),
    "django_celery_beat_solarschedule": (not_held(why.UNUSED, "id event latitude longitude"),),
    "django_content_type": (not_held(why.DJANGO, "id app_label model"),),
    "django_migrations": (not_held(why.DJANGO, "id app name applied"),),
    "django_session": (not_held(why.SIGN_IN, "session_key session_data expire_date"),),
    "otp_static_staticdevice": (
        not_held(
            why.SECRET,
            "id name confirmed user_id throttling_failure_count throttling_failure_timestamp created_at last_used_at",
        ),
    ),
    "otp_static_statictoken": (not_held(why.SECRET, "id token device_id"),),
    "otp_totp_totpdevice": (
        not_held(
            why.SECRET,
            "id name confirmed key step t0 digits tolerance drift last_t user_id throttling_failure_count"
            " throttling_failure_timestamp created_at last_used_at",
        ),
    ),
}
