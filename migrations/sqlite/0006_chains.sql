-- Rows that never change are part of hash chains: see package store/chain.
-- A seal is a salt of 16 bytes, or, once the text beside it is erased, the hash of 32 bytes that stands for the text.
-- link is the link that a row belongs to. 0: none, because an older version wrote the row; "hongbao migrate" adds it to a chain.

create table chains (
    id       integer primary key check (id < 1048576), -- lower 20 bits of the ids of its links
    instance text not null,
    at       integer not null,
    free     integer not null default 0 -- its process has stopped, and another one may continue it
) strict;

create table links (
    chain  integer not null,
    id     integer not null, -- rises in each chain, and with time over all chains
    prev   integer not null, -- the link before; 0 in the first of a chain
    at     integer not null,
    leaves integer not null, -- number of rows
    hash   blob not null,
    primary key (chain, id)
) strict, without rowid;

alter table entries add column link integer not null default 0;
alter table entries add column name_seal blob not null default x''; -- of sender_name and sender_avatar
alter table entries add column text_seal blob not null default x''; -- of body

alter table packets add column link integer not null default 0;
alter table packets add column name_seal blob not null default x''; -- of sender_name and sender_avatar
alter table packets add column text_seal blob not null default x''; -- of greeting and passphrase

alter table claims add column link integer not null default 0;

alter table transfers add column link integer not null default 0; -- of a credit or debit
alter table transfers add column actor text not null default '';  -- the author of the credit or debit
alter table transfers add column request_id text not null default '';
alter table transfers add column reason text not null default '';

-- The audit reads rows in the order of their links.
create index entries_link on entries (link);
create index packets_link on packets (link);
create index claims_link on claims (link);
create index transfers_link on transfers (link) where kind in ('credit', 'debit');
