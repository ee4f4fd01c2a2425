-- What a host keeps of its own with users and rooms, suspended users, frozen rooms, and bans that end.

-- ref: the host's own id, see refs; '': none. custom: a JSON object for the host only; '': none. suspended_at: 0: the user is not suspended.
alter table users add column ref text not null default '';
alter table users add column custom text not null default '';
alter table users add column suspended_at integer not null default 0;

-- frozen: only the system may post.
alter table rooms add column ref text not null default '';
alter table rooms add column frozen integer not null default 0;

-- Of a banned user. banned_until: 0: the ban does not end.
alter table members add column banned_until integer not null default 0;
alter table members add column ban_reason text not null default '';

-- Which user or room has the host's own id.
create table refs (
    kind text not null check (kind in ('user', 'room')),
    ref  text not null,
    id   text not null,
    primary key (kind, ref)
) strict, without rowid;
