-- Times are Unix milliseconds, money is minor units. No foreign keys on the money path: see DESIGN "join and quarantine".
-- Ids sort by their bytes, whatever the database's collation. Rows that are updated often leave room in their pages.

create table settings (
    name  text primary key,
    value bytea not null
);

create table users (
    id         text collate "C" primary key,
    name       text not null default '',
    avatar     text not null default '',
    not_before bigint not null default 0, -- tokens issued up to this second are refused
    next_seed  bytea                      -- of the user's next packet; drawn on first need
) with (fillfactor = 70);

create table rooms (
    id           text collate "C" primary key,
    name         text not null,
    kind         text not null check (kind in ('public', 'private', 'direct')),
    announcement text not null default '',
    pair         text unique,               -- direct rooms: both user ids, sorted
    members      integer not null default 0,
    last_seq     bigint not null default 0,
    content_no   bigint not null default 0, -- how many text and packet entries there are
    created_at   bigint not null,
    deleted_at   bigint not null default 0  -- 0: it is there
) with (fillfactor = 70);

create index rooms_public on rooms (created_at desc, id desc) where kind = 'public' and deleted_at = 0;

create table members (
    room_id     text collate "C" not null,
    user_id     text collate "C" not null,
    state       text collate "C" not null check (state in ('in', 'left', 'kicked', 'gone')), -- gone: the room was deleted
    banned      boolean not null default false,
    role        text collate "C" not null default 'member' check (role in ('owner', 'admin', 'member')),
    read_seq    bigint not null default 0,
    muted_until bigint not null default 0,
    joined_at   bigint not null,
    primary key (room_id, user_id)
) with (fillfactor = 70);

create index members_user on members (user_id, state);
create index members_list on members (room_id, state, role, joined_at, user_id);

create table entries (
    room_id    text collate "C" not null,
    seq        bigint not null,
    id         text collate "C" not null,
    at         bigint not null,
    sender     text collate "C" not null,
    sender_name   text not null,             -- as it was then: entries never change
    sender_avatar text not null default '',
    kind       text not null,
    key        text collate "C" not null default '',
    body       text not null,                -- JSON, as PROTOCOL section 5 has it, kept byte for byte
    content_no bigint not null,              -- the room's count of content entries up to and with this one
    target     bigint not null default 0,    -- of an edit, a recall, a reaction: the entry it is about
    fold       text not null default '',     -- of a text: what has become of it (JSON, chat.Fold); '': nothing
    primary key (room_id, seq)
);

create index entries_edits on entries (room_id, target) where kind = 'edit';
create index entries_sender on entries (room_id, sender, seq) where kind in ('text', 'packet');

-- Who reacts to which text with what. How many they are stands in the text's fold.
create table reactions (
    room_id text collate "C" not null,
    seq     bigint not null,
    emoji   text collate "C" not null,
    user_id text collate "C" not null,
    primary key (room_id, seq, emoji, user_id)
);

-- One name per request of a user, over all commands, for ever.
create table requests (
    user_id text collate "C" not null,
    key     text collate "C" not null,
    hash    bytea not null,
    room_id text collate "C" not null,
    seq     bigint not null default 0, -- the entry it made, if any
    ref     text collate "C" not null default '', -- the packet it made, if any
    primary key (user_id, key)
);

create table wallets (
    user_id text collate "C" primary key,
    balance bigint not null check (balance >= 0)
) with (fillfactor = 70);

create table packets (
    id         text collate "C" primary key,
    partition  integer not null,
    room_id    text collate "C" not null,
    sender     text collate "C" not null,
    sender_name   text not null,
    sender_avatar text not null default '',
    mode       text not null check (mode in ('lucky', 'equal')),
    spread     text not null,
    total      bigint not null check (total > 0),
    count      integer not null check (count > 0),
    shares     bigint[] not null,           -- count amounts, their sum is total
    greeting   text not null,
    recipients text[] not null default '{}', -- user ids
    passphrase text not null default '',
    seed       bytea not null,
    commitment text not null,
    key        text collate "C" not null,
    seq        bigint not null,             -- its entry in the room
    status     text not null check (status in ('open', 'drained', 'expired', 'cancelled')),
    created_at bigint not null,
    expires_at bigint not null,
    closed_at  bigint,
    refunded   bigint not null default 0,
    claimed    integer not null default 0,  -- how many shares were, set at close: an open packet's are counted
    done_seq   bigint,                      -- packet_done's entry
    check (total >= count),
    check ((status = 'open') = (closed_at is null))
) with (fillfactor = 70);

create index packets_open on packets (expires_at, id) where status = 'open';
create index packets_sender on packets (sender, created_at desc, id desc);
create index packets_of_room on packets (room_id, created_at desc, id desc);

create table claims (
    packet_id text collate "C" not null,
    share_no  integer not null,
    user_id   text collate "C" not null,
    amount    bigint not null check (amount > 0),
    at        bigint not null,
    transfer  text collate "C" not null,    -- the id of its movement
    luckiest  boolean not null default false, -- set at close, for lucky packets of two or more
    primary key (packet_id, share_no),
    unique (packet_id, user_id)
);

create unique index claims_luckiest on claims (packet_id) where luckiest;

-- Insert-only, one row a movement. That a claim has one only is up to the claim, which names it: each index is paid for with every grab.
-- A party is 'user:<id>', 'packet:<id>' or 'outside'.
create table transfers (
    id     text collate "C" not null,
    at     bigint not null,
    debit  text collate "C" not null,
    credit text collate "C" not null,
    amount bigint not null check (amount > 0),
    kind   text not null check (kind in ('credit', 'debit', 'send', 'claim', 'refund')),
    user_id text collate "C" not null,        -- whose wallet it is about
    packet_id text collate "C",
    share_no integer,
    key    text collate "C",                  -- admin credit and debit
    hash   bytea,
    note   text not null default '',
    primary key (user_id, at, id),          -- the order in which they are listed
    check (debit <> credit)
);

create unique index transfers_once on transfers (packet_id, kind) where kind in ('send', 'refund');
create unique index transfers_key on transfers (key) where key is not null;

create table quarantine (
    id        bigint generated always as identity primary key,
    at        bigint not null,
    packet_id text collate "C" not null,
    share_no  bigint not null, -- whatever it was that could not be paid
    user_id   text collate "C" not null,
    why       text not null,
    unique (packet_id, share_no, user_id)
);
