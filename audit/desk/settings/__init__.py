"""Settings: casinos, tables and keys; officers, their roles, deadlines."""
