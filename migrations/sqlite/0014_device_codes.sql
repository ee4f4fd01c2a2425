-- The code with which a user may sign in once on another device.

-- code_hash: SHA-256 of the code; null: the user has none. code_until: when it ends, in Unix milliseconds.
alter table users add column code_hash blob;
alter table users add column code_until integer not null default 0;
