"""PostgreSQL and Valkey from their wheels, for a machine that has no servers: data in one folder, sockets only."""
