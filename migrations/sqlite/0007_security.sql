-- What an operator reads after an attack: see package store/security. Rows are only added. The triggers refuse what a mistake or an
-- injected statement would change; a writer of the file can remove the triggers.

create table admin_acts (
    id       text primary key,
    at       integer not null,
    instance text not null,
    actor    text not null, -- user id of the administrator
    client   text not null, -- address
    method   text not null,
    request  text not null  -- JSON, cut to 2000 bytes
) strict;

create index admin_acts_at on admin_acts (at);

create table security_counts (
    minute   integer not null, -- its start
    instance text not null,
    kind     text not null,
    origin   text not null,    -- part of an address, or a user id; "others": beyond the bound of names a minute
    count    integer not null,
    primary key (minute, instance, kind, origin)
) strict, without rowid;

create trigger admin_acts_unchanged before update on admin_acts begin select raise(abort, 'rows of admin_acts are only added'); end;
create trigger admin_acts_stay before delete on admin_acts begin select raise(abort, 'rows of admin_acts are only added'); end;
create trigger security_counts_unchanged before update on security_counts begin select raise(abort, 'rows of security_counts are only added'); end;
create trigger security_counts_last before delete on security_counts
    when old.minute > unixepoch() * 1000 - 29 * 86400000 begin select raise(abort, 'rows of security_counts are only added'); end;
