-- Times are Unix milliseconds, money is minor units. No foreign keys on the money path: see DESIGN "join and quarantine".

create table settings (
    name  text primary key,
    value blob not null
) strict;

create table users (
    id         text primary key,
    name       text not null default '',
    avatar     text not null default '',
    not_before integer not null default 0, -- tokens issued up to this second are refused
    next_seed  blob                        -- of the user's next packet; drawn on first need
) strict, without rowid;

create table rooms (
    id           text primary key,
    name         text not null,
    kind         text not null check (kind in ('public', 'private', 'direct')),
    announcement text not null default '',
    pair         text unique,               -- direct rooms: both user ids, sorted
    members      integer not null default 0,
    last_seq     integer not null default 0,
    content_no   integer not null default 0, -- how many text and packet entries there are
    created_at   integer not null,
    deleted_at   integer not null default 0 -- 0: it is there
) strict, without rowid;

create index rooms_public on rooms (created_at desc, id desc) where kind = 'public' and deleted_at = 0;

create table members (
    room_id     text not null,
    user_id     text not null,
    state       text not null check (state in ('in', 'left', 'kicked', 'gone')), -- gone: the room was deleted
    banned      integer not null default 0,
    role        text not null default 'member' check (role in ('owner', 'admin', 'member')),
    read_seq    integer not null default 0,
    muted_until integer not null default 0,
    joined_at   integer not null,
    primary key (room_id, user_id)
) strict, without rowid;

create index members_user on members (user_id, state);
create index members_list on members (room_id, state, role, joined_at, user_id);

create table entries (
    room_id    text not null,
    seq        integer not null,
    id         text not null,
    at         integer not null,
    sender     text not null,
    sender_name   text not null,             -- as it was then: entries never change
    sender_avatar text not null default '',
    kind       text not null,
    key        text not null default '',
    body       text not null,                -- JSON, as PROTOCOL section 5 has it
    content_no integer not null,             -- the room's count of content entries up to and with this one
    target     integer not null default 0,   -- of an edit, a recall, a reaction: the entry it is about
    fold       text not null default '',     -- of a text: what has become of it (JSON, chat.Fold); '': nothing
    primary key (room_id, seq)
) strict, without rowid;

create index entries_edits on entries (room_id, target) where kind = 'edit';
create index entries_sender on entries (room_id, sender, seq) where kind in ('text', 'packet');

-- Who reacts to which text with what. How many they are stands in the text's fold.
create table reactions (
    room_id text not null,
    seq     integer not null,
    emoji   text not null,
    user_id text not null,
    primary key (room_id, seq, emoji, user_id)
) strict, without rowid;

-- One name per request of a user, over all commands, for ever.
create table requests (
    user_id text not null,
    key     text not null,
    hash    blob not null,
    room_id text not null,
    seq     integer not null default 0, -- the entry it made, if any
    ref     text not null default '',   -- the packet it made, if any
    primary key (user_id, key)
) strict, without rowid;

create table wallets (
    user_id text primary key,
    balance integer not null check (balance >= 0)
) strict, without rowid;

create table packets (
    id         text primary key,
    partition  integer not null,
    room_id    text not null,
    sender     text not null,
    sender_name   text not null,
    sender_avatar text not null default '',
    mode       text not null check (mode in ('lucky', 'equal')),
    spread     text not null,
    total      integer not null check (total > 0),
    count      integer not null check (count > 0),
    shares     text not null,               -- JSON array of count amounts, their sum is total
    greeting   text not null,
    recipients text not null default '[]',  -- JSON array of user ids
    passphrase text not null default '',
    seed       blob not null,
    commitment text not null,
    key        text not null,
    seq        integer not null,            -- its entry in the room
    status     text not null check (status in ('open', 'drained', 'expired', 'cancelled')),
    created_at integer not null,
    expires_at integer not null,
    closed_at  integer,
    refunded   integer not null default 0,
    claimed    integer not null default 0,  -- how many shares were, set at close: an open packet's are counted
    done_seq   integer,                     -- packet_done's entry
    check (total >= count),
    check ((status = 'open') = (closed_at is null))
) strict, without rowid;

create index packets_open on packets (expires_at, id) where status = 'open';
create index packets_sender on packets (sender, created_at desc, id desc);
create index packets_of_room on packets (room_id, created_at desc, id desc);

create table claims (
    packet_id text not null,
    share_no  integer not null,
    user_id   text not null,
    amount    integer not null check (amount > 0),
    at        integer not null,
    transfer  text not null,                -- the id of its movement
    luckiest  integer not null default 0,   -- set at close, for lucky packets of two or more
    primary key (packet_id, share_no),
    unique (packet_id, user_id)
) strict, without rowid;

create unique index claims_luckiest on claims (packet_id) where luckiest = 1;

-- Insert-only, one row a movement. That a claim has one only is up to the claim, which names it: each index is paid for with every grab.
-- A party is 'user:<id>', 'packet:<id>' or 'outside'.
create table transfers (
    id     text not null,
    at     integer not null,
    debit  text not null,
    credit text not null,
    amount integer not null check (amount > 0),
    kind   text not null check (kind in ('credit', 'debit', 'send', 'claim', 'refund')),
    user_id text not null,                  -- whose wallet it is about
    packet_id text,
    share_no integer,
    key    text,                            -- admin credit and debit
    hash   blob,
    note   text not null default '',
    primary key (user_id, at, id),          -- the order in which they are listed
    check (debit <> credit)
) strict, without rowid;

create unique index transfers_once on transfers (packet_id, kind) where kind in ('send', 'refund');
create unique index transfers_key on transfers (key) where key is not null;

create table quarantine (
    id        integer primary key,
    at        integer not null,
    packet_id text not null,
    share_no  integer not null,
    user_id   text not null,
    why       text not null,
    unique (packet_id, share_no, user_id)
) strict;
