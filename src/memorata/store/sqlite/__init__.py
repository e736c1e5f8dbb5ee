"""Where does it live, on one machine? In one SQLite file."""
