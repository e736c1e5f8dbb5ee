"""The store on a PostgreSQL server: the same contract, for many servers and many tenants."""
