"""PostgreSQL and Valkey from wheels, for a machine without servers: data in one folder, Unix sockets only."""
