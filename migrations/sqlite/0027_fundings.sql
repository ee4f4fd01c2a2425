-- Money that a host moves out of its own ledger into a packet: see redpacket/funding.go. A row is written before the host is asked.

create table fundings (
    bucket     integer not null,           -- of the user
    user_id    text not null,              -- the sender of the packet
    id         text not null,              -- names the funding to the host
    room_id    text not null,              -- with key and total: the request to send the packet
    key        text not null,
    total      integer not null,
    state      text not null check (state in ('asked', 'sent', 'reversed')),
    asked_at   integer not null,           -- when the host was asked last
    asks       integer not null,           -- how often it was asked
    amount     integer not null default 0, -- what the host has taken from its ledger; 0: it is not known
    host_key   text,                       -- the host's name for that; null: it is not known
    packet_id  text,                       -- of a sent one
    settled_at integer not null default 0, -- when it became sent or reversed
    primary key (bucket, user_id, id)
) strict, without rowid;
create unique index fundings_of_request on fundings (bucket, user_id, room_id, key) where state <> 'reversed';
create unique index fundings_of_host on fundings (bucket, user_id, host_key) where host_key is not null;
create index fundings_asked on fundings (asked_at) where state = 'asked';
