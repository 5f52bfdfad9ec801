"""Django's PostgreSQL, by any node of a Citus cluster. ``base`` has the backend; Django gives that module its name."""
