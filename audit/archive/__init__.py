"""Years: months whose events leave the database as proven files, come back to be read, and are destroyed in the end."""
