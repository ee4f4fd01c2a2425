-- What an operator reads after an attack: see package store/security. Rows are only added. The triggers refuse what a mistake or an
-- injected statement would change; the owner of the tables can remove the triggers.

create table admin_acts (
    id       text primary key,
    at       bigint not null,
    instance text not null,
    actor    text not null, -- user id of the administrator
    client   text not null, -- address
    method   text not null,
    request  text not null  -- JSON, cut to 2000 bytes
);

create index admin_acts_at on admin_acts (at);

create table security_counts (
    minute   bigint not null, -- its start
    instance text not null,
    kind     text not null,
    origin   text not null,   -- part of an address, or a user id; "others": beyond the bound of names a minute
    count    bigint not null,
    primary key (minute, instance, kind, origin)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'rows of % are only added', tg_table_name;
end $$;

create trigger admin_acts_stay before update or delete on admin_acts for each row execute function refuse_change();
create trigger security_counts_stay before update on security_counts for each row execute function refuse_change();
create trigger security_counts_last before delete on security_counts for each row
    when (old.minute > extract(epoch from now()) * 1000 - 29 * 86400000::bigint) execute function refuse_change();
