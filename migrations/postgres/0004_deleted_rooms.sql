-- Open packets of deleted rooms are closed early.

alter table rooms add column packets_closed boolean not null default false; -- of a deleted room: it has no open packets

create index rooms_deleted on rooms (id) where deleted_at <> 0 and not packets_closed;
