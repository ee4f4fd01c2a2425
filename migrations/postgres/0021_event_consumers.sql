-- Readers of the event stream that the server knows by name: how far they have read, and which instance delivers to them.

create table event_consumers (
    name        text collate "C" primary key,
    after       text not null,             -- cursor; '': from the oldest event on
    updated_at  bigint not null,
    lease_owner text not null default '',  -- instance that delivers its events
    lease_until bigint not null default 0,
    held_no     bigint not null default 0      -- the number of the event that was held last
);

-- Events that a consumer has refused while it accepted others, and the later events of the same room or user, which wait behind them.
create table event_holds (
    consumer text collate "C" not null,
    key      text collate "C" not null, -- the room or the user in whose order the events are
    no       bigint not null,
    chain    integer not null,          -- position of the event: see events
    id       bigint not null,
    n        integer not null,
    first_at bigint not null,           -- when it was held
    next_at  bigint not null,           -- when it is tried again
    tries    integer not null default 0,
    parked   boolean not null default false, -- it was tried for three days: it waits for the operator, and holds nothing back
    why      text not null default '',
    primary key (consumer, key, no)
);

-- At most 10,000 events of a consumer are not parked.
create index event_holds_waiting on event_holds (consumer, key, no) where not parked;
create index event_holds_due on event_holds (consumer, next_at) where not parked;
create index event_holds_parked on event_holds (consumer, no) where parked;
create index event_holds_pruned on event_holds (id) where parked;
