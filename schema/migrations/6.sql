-- From version 5 to 6:

PRAGMA user_version = 6;
