-- What the server API needs.

-- Of an act: the id of its request, and why it was done.
alter table admin_acts add column request_id text not null default '';
alter table admin_acts add column reason text not null default '';
