"""Names that only a framework, a template or the database uses, so that vulture does not take them for dead code.

Never run. A name belongs here only if something outside our Python code uses it; the comment of its group says what.
"""

from types import SimpleNamespace

_ = SimpleNamespace()

# Settings: Django and its apps read them by name; `casino/settings.py` has all of them, `tests/settings.py` some.
(
    _.AUTH_PASSWORD_VALIDATORS,
    _.CACHES,
    _.DATA_UPLOAD_MAX_MEMORY_SIZE,
    _.DEFAULT_AUTO_FIELD,
    _.DEFAULT_FROM_EMAIL,
    _.FILE_UPLOAD_MAX_MEMORY_SIZE,
)
_.INSTALLED_APPS, _.LOCALE_PATHS, _.LOGGING, _.PASSWORD_HASHERS, _.REST_FRAMEWORK, _.ROOT_URLCONF
_.SPECTACULAR_SETTINGS, _.STORAGES, _.TIME_ZONE, _.USE_TZ, _.X_FRAME_OPTIONS

# Settings that name one of our classes.
_.ArchivedStreams, _.ContentSecurityPolicy, _.DatabaseUnavailable, _.RefuseNul, _.RefuseTrace, _.SecondFactorRequired
_.WritingDirection, _.process_exception

# Django: app configurations, commands, URL modules.
_.AuditConfig, _.DeskConfig, _.DeskSite, _.default_auto_field, _.default_site, _.check_log, _.add_arguments
_.requires_system_checks

# Django models: Meta, managers, choices that only the database or an engine's finding names.
_.abstract, _.constraints, _.LoggedBatch, _.CHEF_DE_PARTIE, _.COUNT_ROOM, _.MINOR
_.MANUAL  # of runs: fields for the register of readings
_.REINSTATED, _.REOPENED  # of changes of findings: written by triggers

# http.client, http.server: attributes that the standard library reads; pools that Celery keeps.
_.auto_open, _.daemon_threads, _.handle_error, _._pool, _._producer_pool

# Celery: signals, the scheduler, the configuration; Prometheus' collector.
_._has_been_logged, _.setup_schedule, _.apply_entry, _._heap, _.set_up_logging, _.begin_task, _.end_task
_.touch_of_main_process

# Fields that are written here and read in a template, an export or SQL.
_.beat_at, _.holder_began, _.holder_pid, _.heartbeat_at, _.raised_at, _.tested_at

# Django's database: what makes rows of an answer, and what keeps a connection that has failed from being used again.
_.errors_occurred

# Django's admin: options and hooks of a ModelAdmin, an inline, a list filter, a site, a form, a middleware.
_.action_form, _.change_list_template, _.list_display_links, _.change_form_template, _.formfield_overrides
_.get_paginator, _.list_filter, _.readonly_fields, _.search_fields, _.search_help_text, _.show_full_result_count
_.full_result_count, _.show_admin_actions, _.show_facets, _.has_output, _.get_readonly_fields, _.get_fields
_.password_change, _.clean_old_password, _.clean_public_key, _.clean_url, _.form_valid, _.site_url, _.otp_device
_.is_anonymous, _.clean_username
_.regex  # of a lookup in a list's address

# Django REST framework and drf-spectacular.
_.authentication_classes, _.filter_backends, _.filterset_class, _.pagination_class, _.renderer_classes
_.serializer_class, _.page_size, _.invalid_cursor_message, _.charset, _.get_exception_handler, _.get_throttles
_.allow_request, _.authenticate_header, _.to_representation, _.KeyScheme, _.target_class, _.get_security_definition
_.auto_schema, _.add_problems
_.http_method_names  # of a view
_.with_status, _.with_reference  # methods of a filter, by name

# Signals and signal handlers: parameters that the caller gives.
_.keep_parents, _.logger

# psycopg's dumpers.
_.get_key, _.upgrade

# uvicorn and httptools: what they call of our protocol, and of our server.
_.send_400_response, _.should_exit

# Django: what its handler looks for on a request.
_.urlconf

# Django: the functions that answer what no view answers.
_.handler400, _.handler403, _.handler404, _.handler500

# The event contract and the law: fields that are decoded or quoted whole, and state that is saved.
_.first_offer, _.inferred_from

# pytest: hooks, marks, and fixtures that a test takes for their effect.
_.pytest_configure, _.pytest_runtest_setup, _.pytest_runtest_teardown, _.pytest_sessionstart
_.pytest_sessionfinish
_.pytest_terminal_summary, _.AsWeb, _.pytestmark, _.db, _.transactional_db, _.module_db, _.own_database
_.django_db_setup, _.django_test_environment, _.no_progress, _.serving_role

# Hypothesis: a rule of a state machine.
_.swap

# Servers and clients that the tests stand in for.
_.do_POST, _.do_PUT, _.log_message, _.protocol_version
_.create_system, _.external_attr, _._didModify  # zipfile

# mutmut, which `.ci/mutants.py` configures.
_.print_status

# Django: arguments of a system check, methods of an admin and its filters, an unmanaged model.
_.app_configs, _.field_choices, _.managed

# Simulators, which rulesets name.
_.FrenchCraps, _.FrenchRoulette, _.Boule

# Django: how it writes a date where no page of ours does.
_.FORMAT_MODULE_PATH, _.DATE_FORMAT, _.SHORT_DATE_FORMAT, _.DATETIME_FORMAT, _.SHORT_DATETIME_FORMAT, _.TIME_FORMAT

# Celery: what its worker says on a signal, called by its own handlers.
_.safe_say

# The contract, the pages of the law, the night, a hook of forms, and a setting of the craps of PyPI.
_.in_force_source, _.takes_back, _.label_from_instance, _.allow_credit_rail

# Of a correction: a field of the interface, and what the template of an event shows.
_.get_entry, _.is_in_effect

# The evidence ledger: what the templates of its pages show, what is written for whoever looks at a row, a form's field.
_.begun_at

# Django: a hook of a list. The verdict and the steps, which the template of a finding shows.
_.get_search_results, _.get_changelist

# The overview and the queue: what their templates show. Django: fields of a site and of a subquery.
_.as_item, _.has_players_won, _.is_beyond_chance, _.enable_nav_sidebar

# The settings: read by their template; a page of Django's own that is replaced.
_.may_add, _.has_more, _.last_used, _.app_index

# The page of a proposed closing: what its template shows.
_.is_quoted

# Complaints: members of choices that a form offers; fields that a template shows.
_.CAGE, _.UNFOUNDED, _.entered_by

# The record and its proofs: what its template shows.
_.may_try_again

# The witness: what the HTTP server of the standard library reads, and its methods.
_.allow_reuse_address, _.request_queue_size, _.address_family, _.process_request, _.server_version, _.sys_version
_.do_GET

# Witnesses: a hook of the HTTP client of the standard library; what is written for whoever looks at a row.
_.redirect_request, _.tried_at

# Views and forms of Django: it reads these and calls the method; templates and `cleaned_data` have the fields.
_.authentication_form, _.template_name, _.get_default_redirect_url, _.is_confirmed, _.recovery_code, _.valid_value
_.is_given_up

# A field's check, which Django's forms call; what isinstance calls.
_.__instancecheck__

# Tests: what the configuration parser and the HTTP client of the standard library read.
_.optionxform, _.addheaders

# A parser of pages in a test: html.parser calls them.
_.handle_starttag, _.handle_endtag, _.handle_data

# Single sign-on: hooks of mozilla-django-oidc, what a session is kept by, and since when, for whoever looks at the row.
_.retrieve_matching_jwk, _.get_payload_data, _.get_settings, _.get_extra_params, _.modified, _.linked_at
_.receives_reports

# Django's admin and URL configuration: what they call, or read, by name; what a template of the queue shows.
_.action_checkbox, _.history_view, _.get_exclude, _.get_app_list, _.empty_value_display, _.server_error
_.form_refused, _.bad_request, _.permission_denied, _.claim_words, _.is_best, _.is_of_distances, _.is_next

# A field of a form, and the lines of a value: what Django calls by name.
_.empty_label, _.id_for_label, _.format_value

# pytest.
_.pytest_collection_modifyitems

# The second encoding: chosen by the status of a wager.
_.deal_half, _.deal_imprisoned, _.deal_lost, _.deal_released, _.deal_void, _.deal_withdrawn, _.deal_won

# Rulesets and what they name as texts: entry points (settlement/rulesets.py: OURS, and that of the toy).
_.FR_CRAPS, _.QC_CRAPS, _.FR_ROULETTE, _.FR_AMERICAN_ROULETTE, _.FR_BOULE, _.TwoCoins

# Django's admin calls it.
_.delete_queryset

# Named in settings: what counts failed sign-ins asks it. Read by Django's hasher of passwords.
_.counted_name, _.parallelism, _.memory_cost

# openpyxl calls it, with both arguments; the tests set what it reads.
_.read_chartsheet, _.rel, _.sheet_state

# A template reads it.
_.waive_address

# Django reads them.
_.field_order, _.label_suffix
