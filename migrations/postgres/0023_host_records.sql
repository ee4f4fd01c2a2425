-- What a host keeps of its own with users and rooms, suspended users, frozen rooms, and bans that end.

-- ref: the host's own id, see refs; '': none. custom: a JSON object for the host only; '': none. suspended_at: 0: the user is not suspended.
alter table users add column ref text collate "C" not null default '';
alter table users add column custom text not null default '';
alter table users add column suspended_at bigint not null default 0;

-- frozen: only the system may post.
alter table rooms add column ref text collate "C" not null default '';
alter table rooms add column frozen boolean not null default false;

-- Of a banned user. banned_until: 0: the ban does not end.
alter table members add column banned_until bigint not null default 0;
alter table members add column ban_reason text not null default '';

-- Which user or room has the host's own id. The key begins with what is looked up, so that it can be put into buckets.
create table refs (
    kind text collate "C" not null check (kind in ('user', 'room')),
    ref  text collate "C" not null,
    id   text collate "C" not null,
    primary key (kind, ref)
);
