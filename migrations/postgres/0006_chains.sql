-- Rows that never change are part of hash chains: see package store/chain.
-- A seal is a salt of 16 bytes, or, once the text beside it is erased, the hash of 32 bytes that stands for the text.
-- link is the link that a row belongs to. 0: none, because an older version wrote the row; "hongbao migrate" adds it to a chain.

create table chains (
    id       integer generated always as identity primary key check (id < 1048576), -- lower 20 bits of the ids of its links
    instance text not null,
    at       bigint not null,
    free     boolean not null default false -- its instance has stopped, and another one may continue it
);

create table links (
    chain  integer not null,
    id     bigint not null,  -- rises in each chain, and with time over all chains
    prev   bigint not null,  -- the link before; 0 in the first of a chain
    at     bigint not null,
    leaves integer not null, -- number of rows
    hash   bytea not null,
    primary key (chain, id)
);

alter table entries add column link bigint not null default 0,
    add column name_seal bytea not null default '',  -- of sender_name and sender_avatar
    add column text_seal bytea not null default '';  -- of body

alter table packets add column link bigint not null default 0,
    add column name_seal bytea not null default '',  -- of sender_name and sender_avatar
    add column text_seal bytea not null default '';  -- of greeting and passphrase

alter table claims add column link bigint not null default 0;

alter table transfers add column link bigint not null default 0, -- of a credit or debit
    add column actor text not null default '',       -- the author of the credit or debit
    add column request_id text not null default '',
    add column reason text not null default '';

-- Whichever version of the program erases a text, the seal becomes the hash that stands for the text.
create function seal_erased_body() returns trigger language plpgsql as $$
begin
    if octet_length(old.text_seal) = 16 and new.text_seal = old.text_seal and new.body <> old.body then
        new.text_seal = sha256('\x000000000000000e686f6e6762616f2f7365616c2f310000000000000010'::bytea || old.text_seal
            || int8send(octet_length(convert_to(old.body, 'UTF8'))) || convert_to(old.body, 'UTF8'));
    end if;
    return new;
end $$;

create trigger seal_erased_body before update of body on entries for each row execute function seal_erased_body();
