-- Times are Unix milliseconds, money is minor units. No foreign keys on the money path: a row that is in doubt must not hold up others.

create table settings (
    name  text primary key,
    value blob not null
) strict;

create table users (
    id           text primary key,
    name         text not null default '',
    avatar       text not null default '',
    not_before   integer not null default 0, -- tokens issued up to this second are refused
    next_seed    blob,                       -- of the user's next packet; drawn on first need
    contact      text not null default 'everyone' check (contact in ('everyone', 'shared', 'nobody')), -- from whom
    code_hash    blob,                       -- SHA-256 of a code to sign in once on another device; null: none
    code_until   integer not null default 0, -- when the code ends
    ref          text not null default '',   -- the host's own id, see refs; '': none
    custom       text not null default '',   -- a JSON object for the host only; '': none
    suspended_at integer not null default 0, -- 0: the user is not suspended
    erased_at    integer not null default 0, -- 0: the user is not erased; an erased user is also suspended. See erasures
    -- What the user has limited: the most that the user sends and receives in packets a day (null: no limit), and what follows, from when on (0: nothing).
    self_sent          integer check (self_sent >= 0),
    self_sent_next     integer,
    self_sent_at       integer not null default 0 check (self_sent_at = 0 or self_sent is not null and coalesce(self_sent_next > self_sent, true)),
    self_received      integer check (self_received >= 0),
    self_received_next integer,
    self_received_at   integer not null default 0 check (self_received_at = 0 or self_received is not null and coalesce(self_received_next > self_received, true))
) strict, without rowid;

create index users_suspended on users (id) where suspended_at > 0;

-- Users that are erased, or are being erased: see store/tables/erasing.go. A row stays for ever, because it explains to the audit what is missing.
create table erasures (
    user_id  text primary key,
    texts    integer not null,           -- 1: the user's texts go, too; 0: only names, and what is not in rooms
    asked_at integer not null,
    done_at  integer not null default 0, -- 0: it is under way
    next_at  integer not null,           -- when the next step is due
    waits    text not null default '' check (waits in ('', 'hold', 'packets', 'files', 'commands')), -- for what the next step waits
    room_id  text not null default '',   -- the entries of this room up to seq, and those of the rooms before it, are done
    seq      integer not null default 0,
    entries  integer not null default 0  -- changed so far
) strict, without rowid;

create index erasures_due on erasures (next_at) where done_at = 0;

-- Users and rooms whose texts must stay, whatever erasure or retention says.
create table legal_holds (
    kind   text not null check (kind in ('user', 'room')),
    id     text not null,
    at     integer not null,
    actor  text not null, -- key of the server API that has set it
    reason text not null,
    primary key (kind, id)
) strict, without rowid;

-- How long the texts of rooms are kept: see store/tables/retention.go.
create table retention (
    room_id text primary key,
    days    integer not null default 0, -- of this room; 0: as long as rooms of its kind
    seq     integer not null default 0  -- the texts up to this seq are retired
) strict, without rowid;

create index retention_own on retention (room_id) where days > 0;

-- Which user or room has the host's own id.
create table refs (
    kind text not null check (kind in ('user', 'room')),
    ref  text not null,
    id   text not null,
    primary key (kind, ref)
) strict, without rowid;

-- user_id has blocked the user blocked. A row of user_id.
create table blocks (
    user_id text not null,
    blocked text not null,
    at      integer not null,
    known   integer not null default 0, -- user_id knew blocked then, so it may see the name
    primary key (user_id, blocked)
) strict, without rowid;

-- Pictures that users have uploaded as their avatars: the newest ones of each user.
create table pictures (
    user_id text not null,
    hash    blob not null, -- names the picture in its address
    data    blob not null, -- JPEG
    at      integer not null,
    primary key (user_id, hash)
) strict;

create index pictures_hash on pictures (hash);

-- Where the push services of browsers take notifications for users without a socket (Web Push, RFC 8030). Rows of a user.
create table push_subscriptions (
    user_id  text not null,
    id       blob not null,
    endpoint text not null,
    p256dh   blob not null,
    auth     blob not null,
    at       integer not null,
    primary key (user_id, id)
) strict, without rowid;

create table rooms (
    id             text primary key,
    name           text not null,
    kind           text not null check (kind in ('public', 'private', 'direct')),
    announcement   text not null default '',
    pair           text unique,                -- direct rooms: both user ids, sorted
    members        integer not null default 0,
    last_seq       integer not null default 0,
    content_no     integer not null default 0, -- how many text and packet entries there are
    created_at     integer not null,
    deleted_at     integer not null default 0, -- 0: it is there
    emptied        integer not null default 0, -- of a deleted room: it has no open packets, and all members are gone
    invite         text not null default '' check (invite in ('', 'members', 'admins')), -- '': as usual for the kind (chat.RoomKind.Inviters)
    guests         integer not null default 1, -- guests can enter
    packets        integer not null default 1, -- users can send packets
    ref            text not null default '',   -- the host's own id, see refs; '': none
    frozen         integer not null default 0  -- only the system may post
) strict, without rowid;

create index rooms_public on rooms (created_at desc, id desc) where kind = 'public' and deleted_at = 0;
create index rooms_deleted on rooms (id) where deleted_at <> 0 and emptied = 0;

-- Parts of the names of public rooms, for the search: see package chat/words. A deleted room has none.
create table room_words (
    word    text not null,
    room_id text not null,
    primary key (word, room_id)
) strict, without rowid;

create index room_words_room on room_words (room_id);

create table members (
    room_id      text not null,
    user_id      text not null,
    state        text not null check (state in ('in', 'left', 'kicked', 'gone')), -- a deleted room has no members, whatever this says; gone: it was deleted
    banned       integer not null default 0,
    role         text not null default 'member' check (role in ('owner', 'admin', 'member')),
    read_seq     integer not null default 0,
    muted_until  integer not null default 0,
    joined_at    integer not null,
    chosen       integer not null default 1,  -- the user created, joined or opened the room, or has written into it
    joined_seq   integer not null default 0,  -- the room's last seq when the user became a member; 0: at the beginning
    silent       integer not null default 0,  -- for all own devices; pinned and archived_no, too
    silent_until integer not null default 0,  -- of a silent room; 0: the silence does not end
    pinned       integer not null default 0,
    archived_no  integer not null default -1, -- rooms.content_no when the member archived the room, which later content ends; -1: not archived
    banned_until integer not null default 0,  -- of a banned user; 0: the ban does not end
    ban_reason   text not null default '',
    primary key (room_id, user_id)
) strict, without rowid;

create index members_user on members (user_id, state);
create index members_list on members (room_id, state, role, joined_at, user_id);
create index members_banned on members (room_id, user_id) where banned;

-- Invite links of rooms.
create table invite_links (
    room_id     text not null,
    id          text not null,    -- hash of the part of the code after the room: the table alone lets nobody in
    creator     text not null,
    created_at  integer not null,
    expires_at  integer not null,
    max_uses    integer not null, -- 0: any number
    uses        integer not null default 0,
    approval    integer not null default 0,
    request     blob,             -- hash of the creator and the request's key; null: the request had no key
    sealed_code blob,             -- the secret of the code, readable with the key alone
    primary key (room_id, id)
) strict, without rowid;

-- Users that ask to enter a room by a link that needs approval.
create table join_requests (
    room_id text not null,
    user_id text not null,
    at      integer not null,
    primary key (room_id, user_id)
) strict, without rowid;

create index join_requests_user on join_requests (user_id);

create table entries (
    room_id       text not null,
    seq           integer not null,
    id            text not null,
    at            integer not null,
    sender        text not null,
    sender_name   text not null,              -- as it was then: entries never change
    sender_avatar text not null default '',
    kind          text not null,
    key           text not null default '',
    body          text not null,              -- JSON, as the protocol has it
    content_no    integer not null,           -- the room's count of content entries up to and with this one
    target        integer not null default 0, -- of an edit, a recall, a reaction: the entry it is about
    fold          text not null default '',   -- of a text: what has become of it (JSON, chat.Fold); '': nothing
    link          integer not null default 0, -- see chains
    name_seal     blob not null default x'',  -- of sender_name and sender_avatar
    text_seal     blob not null default x'',  -- of body
    primary key (room_id, seq)
) strict, without rowid;

create index entries_edits on entries (room_id, target) where kind = 'edit';
create index entries_sender on entries (room_id, sender, seq) where kind in ('text', 'packet');
create index entries_link on entries (link);

-- The reactions of users to entries. Their counts stand in the fold of the entry.
create table reactions (
    room_id text not null,
    seq     integer not null,
    emoji   text not null,
    user_id text not null,
    primary key (room_id, seq, emoji, user_id)
) strict, without rowid;

-- The texts that mention a user. Rows of a room, like its entries. Only members are in it. at is the time of the entry, so that a user's rows are
-- listed by time.
create table mentions (
    user_id text not null,
    at      integer not null,
    room_id text not null,
    seq     integer not null,
    primary key (user_id, at, room_id, seq)
) strict, without rowid;

-- The texts that mention all members of their room: those that are in it already.
create table mentions_of_all (
    room_id text not null,
    at      integer not null,
    seq     integer not null,
    primary key (room_id, at, seq)
) strict, without rowid;

-- The rules of rooms, as JSON: see package chat/rules.
create table room_rules (
    room_id text primary key,
    rules   text not null
) strict, without rowid;

-- Texts that a rule holds until an admin of the room has answered.
create table held_texts (
    room_id  text not null,
    id       text not null,
    user_id  text not null,
    name     text not null,           -- of the author, as it was then
    avatar   text not null default '',
    at       integer not null,
    rule     text not null,
    key      text not null,           -- of the author's request
    message  text not null,           -- JSON (chat.Message)
    admitted integer not null default 0, -- an admin has admitted it: it is about to be sent
    primary key (room_id, id)
) strict, without rowid;

create index held_texts_user on held_texts (user_id);

-- Texts of rooms that were imported, by their ids in the archive: see package chat/archive.
create table imported_texts (
    room_id text not null,
    id      text not null,
    seq     integer not null,
    primary key (room_id, id)
) strict, without rowid;

-- Files of entries: see package chat/files. Their content is in the object store. A row is written before the first object of the file.
create table files (
    room_id    text not null,
    id         text not null,
    user_id    text not null,              -- the uploader
    kind       text not null check (kind in ('picture', 'voice', 'file')),
    at         integer not null,
    state      text not null check (state in ('coming', 'held', 'ready', 'dropped', 'removed')),
    upload     integer not null,            -- bytes of the upload
    counted    integer not null,            -- bytes in file_usage: of the upload, later of all versions that are stored for this file
    received   integer not null default 0,
    seq        integer not null default 0,  -- of its entry; 0: none
    folder     text not null default '',   -- where its objects are; that of another file with the same content, or its own
    hash       blob,                       -- SHA-256 of the content; null: it is not whole
    made       text not null default '[]', -- JSON: what was made of a picture
    body       text not null,              -- JSON (chat.File)
    touched_at integer not null,            -- dropped: not removed before; otherwise the time of the last change
    unclean    integer not null default 1, -- parts of the upload may be in the object store
    primary key (room_id, id)
) strict;

create index files_entry on files (room_id, seq) where seq > 0;
create index files_shown on files (room_id, kind, seq) where seq > 0 and state = 'ready';
create index files_hash on files (room_id, hash) where hash is not null;
create index files_kept on files (room_id) where state <> 'dropped';
create index files_unused on files (at) where seq = 0 and state <> 'dropped';
create index files_coming on files (touched_at) where state = 'coming';
create index files_coming_of on files (user_id) where state = 'coming';
create index files_dropped on files (touched_at) where state = 'dropped';
create index files_held on files (room_id) where state = 'held';
create index files_unclean on files (touched_at) where unclean = 1 and state in ('held', 'ready');
create unique index files_id on files (id);
create index files_user on files (user_id, id);

-- Sum of files.counted.
create table file_usage (
    id    integer primary key check (id = 1), -- there is one row, or none
    bytes integer not null
) strict;

-- The words of texts and greetings, for the search: see store/tables/search.go. Rows are added some time after their entry.
create table entry_words (
    word integer not null, -- hash of the word and the room
    at   integer not null, -- of the entry, like seq
    seq  integer not null,
    primary key (word, at, seq)
) strict, without rowid;

-- Up to which seq the entries of a room are in entry_words.
create table indexed_rooms (
    room_id text primary key,
    seq     integer not null
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
    user_id        text primary key,
    balance        integer not null check (balance >= 0),
    version        integer not null default 0, -- raised by every write to the row, so that a client can tell which of two balances is newer
    frozen_at      integer not null default 0, -- 0: not frozen. A frozen wallet receives, and never spends
    limit_sent     integer,                    -- what the user may send and receive a day; null: as the settings say; -1: without a limit
    limit_received integer,
    limit_packets  integer
) strict, without rowid;

-- seed, passphrase and shares of an encrypted row: see package store/secret. passphrase is encrypted, too, and seed and shares are empty until the
-- packet is closed.
create table packets (
    id              text primary key,
    partition       integer not null,
    room_id         text not null,
    sender          text not null,
    sender_name     text not null,
    sender_avatar   text not null default '',
    mode            text not null check (mode in ('lucky', 'equal')),
    spread          text not null,
    total           integer not null check (total > 0),
    count           integer not null check (count > 0),
    shares          text not null,              -- JSON array of count amounts, their sum is total
    greeting        text not null,
    recipients      text not null default '[]', -- JSON array of user ids
    passphrase      text not null default '',
    seed            blob not null,
    commitment      text not null,
    key             text not null,
    seq             integer not null,           -- its entry in the room
    status          text not null check (status in ('open', 'drained', 'expired', 'cancelled')),
    created_at      integer not null,
    expires_at      integer not null,
    closed_at       integer,
    refunded        integer not null default 0,
    claimed         integer not null default 0, -- how many shares were, set at close: an open packet's are counted
    done_seq        integer,                    -- packet_done's entry
    link            integer not null default 0, -- see chains
    name_seal       blob not null default x'',  -- of sender_name and sender_avatar
    text_seal       blob not null default x'',  -- of greeting and passphrase
    encrypted_seed  blob not null default x'',  -- empty: the row is not encrypted
    earlier_members integer not null default 0, -- only users may grab that were members before
    one_per_person  integer not null default 0, -- it pays at most one share to each person: see persons
    skin            text not null default '',   -- the drawing on the envelope; empty: the plain envelope
    opens_at        integer not null default 0, -- grabs are refused until then; 0: never
    held            text not null default '', -- JSON: for whom which share is held; '': none. No client is told
    held_until      integer not null default 0, -- then they are free to all
    window_s        integer not null default 0, -- of a draw: how long users can enter; 0: first come, first served
    rest            text not null default '' check (rest in ('', 'refund', 'share')), -- of a draw: what becomes of shares that nobody is there for
    participants    integer not null default 0, -- of a draw: how many users have entered
    drawn_at        integer not null default 0, -- of a draw: when entering ended; 0: it has not. Set once, like the three columns below
    root            text not null default '',   -- hex, of the Merkle tree over the leaves of the participants
    parts           integer not null default 0, -- how many shares the total was cut into anew; 0: it was not
    draw_link       integer not null default 0, -- of drawn_at, participants, root and parts: see chains
    waves           integer not null default 0, -- of a rain: a draw that is drawn in so many waves; 0: it is none
    max_wins        integer not null default 0, -- of a rain: waves that one user may win
    waves_drawn     integer not null default 0, -- of a rain: how many waves have been drawn
    wave_entered    integer not null default 0, -- of a rain: the wave that users have entered last
    wave_size       integer not null default 0, -- how many have entered that wave
    check (window_s = 0 or partition < 0),
    check (waves = 0 or window_s > 0 and count % waves = 0),
    check (total >= count),
    check ((status = 'open') = (closed_at is null))
) strict, without rowid;

create index packets_open on packets (expires_at, id) where status = 'open';
create index packets_sender on packets (sender, created_at desc, id desc, total, refunded); -- the last two for sums
create index packets_of_room on packets (room_id, created_at desc, id desc);
create index packets_room on packets (room_id, id) where status = 'open';
create index packets_link on packets (link);
create index packets_draw_link on packets (draw_link) where draw_link > 0;
create index packets_rain on packets ((expires_at - window_s * 1000), id) where status = 'open' and waves > 0;
create index packets_open_sender on packets (sender) where done_seq is null;

create table claims (
    packet_id text not null,
    share_no  integer not null,
    user_id   text not null,
    amount    integer not null check (amount > 0),
    at        integer not null,
    transfer  text not null,              -- the id of its movement
    luckiest  integer not null default 0, -- set at close, for lucky packets of two or more
    link      integer not null default 0, -- see chains
    wave      integer not null default 0, -- of a rain: in which the user has won the share
    primary key (packet_id, share_no),
    unique (packet_id, user_id, wave)
) strict, without rowid;

-- Which user gets the share of a person, in a packet that pays one share a person.
create table persons (
    packet_id text not null,
    person    text not null, -- hex: a hash of packet and person
    user_id   text not null,
    at        integer not null,
    primary key (packet_id, person)
) strict, without rowid;

create index persons_user on persons (packet_id, user_id);

-- The users that have entered a draw.
create table participants (
    packet_id text not null,
    wave      integer not null,           -- of a rain, from 1; 0: the packet is no rain
    user_id   text not null,
    leaf      text not null,              -- hex: see package proof
    at        integer not null,
    link      integer not null default 0, -- see chains
    primary key (packet_id, wave, user_id)
) strict, without rowid;

-- The waves of rains that have been drawn. The winners are users: they win the shares from first_share on.
create table rain_waves (
    packet_id    text not null,
    wave         integer not null,
    drawn_at     integer not null,
    participants integer not null,
    root         text not null,              -- hex, of the Merkle tree over the leaves of its participants
    first_share  integer not null,
    winners      text not null,              -- JSON
    link         integer not null default 0, -- see chains
    primary key (packet_id, wave)
) strict, without rowid;

create index rain_waves_link on rain_waves (link);

create index participants_link on participants (link);

create unique index claims_luckiest on claims (packet_id) where luckiest = 1;
create index claims_best on claims (user_id, at) where luckiest = 1;
create index claims_link on claims (link);

-- Insert-only, one row a movement. That a claim has one only is up to the claim, which names it: each index is paid for with every grab.
-- A party is 'user:<id>', 'packet:<id>' or 'outside'.
create table transfers (
    id         text not null,
    at         integer not null,
    debit      text not null,
    credit     text not null,
    amount     integer not null check (amount > 0),
    kind       text not null check (kind in ('credit', 'debit', 'send', 'claim', 'refund')),
    user_id    text not null,              -- whose wallet it is about
    packet_id  text,
    share_no   integer,
    key        text,                       -- admin credit and debit
    hash       blob,
    note       text not null default '',
    link       integer not null default 0, -- of a credit or debit: see chains
    actor      text not null default '',   -- the author of the credit or debit
    request_id text not null default '',
    reason     text not null default '',
    primary key (user_id, at, id),          -- the order in which they are listed
    check (debit <> credit)
) strict, without rowid;

create unique index transfers_once on transfers (packet_id, kind) where kind in ('send', 'refund');
create unique index transfers_key on transfers (key) where key is not null;
create index transfers_link on transfers (link) where kind in ('credit', 'debit');

-- Money in circulation: all credits from outside less all debits. Every credit and debit changes its only row.
create table circulation (
    id     integer primary key default 1 check (id = 1), -- there is one row
    amount integer not null
) strict;

insert into circulation (amount) values (0);

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

create table quarantine (
    id        integer primary key,
    at        integer not null,
    packet_id text not null,
    share_no  integer not null,
    user_id   text not null,
    why       text not null,
    unique (packet_id, share_no, user_id)
) strict;

-- Rows that never change are part of hash chains: see package store/chain. The column link of a row is the link that it belongs to.
-- A seal is a salt of 16 bytes, or, once the text beside it is erased, the hash of 32 bytes that stands for the text.
create table chains (
    id       integer primary key check (id < 1048576), -- lower 20 bits of the ids of its links
    instance text not null,
    at       integer not null,
    free     integer not null default 0                -- its process has stopped, and another one may continue it
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

-- The event stream: see package store/eventlog. A transaction adds one row, which refers to the facts that it has written.
create table events (
    chain integer not null, -- always 0: there is one writer, so all rows are serial
    id    integer not null,
    at    integer not null,
    refs  blob not null,    -- JSON: references, no texts of users
    primary key (chain, id)
) strict, without rowid;

-- How far the stream had come at a time. All rows up to the oldest mark are deleted, or will be soon, and are never read again.
create table event_marks (
    id integer primary key,
    at integer not null
) strict;

-- Readers of the event stream that the server knows by name: how far they have read, and which instance delivers to them.
create table event_consumers (
    name        text primary key,
    after       text not null,             -- cursor; '': from the oldest event on
    updated_at  integer not null,
    lease_owner text not null default '',  -- instance that delivers its events
    lease_until integer not null default 0,
    held_no     integer not null default 0 -- the number of the event that was held last
) strict;

-- Events that a consumer has refused while it accepted others, and the later events of the same room or user, which wait behind them.
create table event_holds (
    consumer text not null,
    key      text not null,              -- the room or the user in whose order the events are
    no       integer not null,
    chain    integer not null,           -- position of the event: see events
    id       integer not null,
    n        integer not null,
    first_at integer not null,           -- when it was held
    next_at  integer not null,           -- when it is tried again
    tries    integer not null default 0,
    parked   integer not null default 0, -- it was tried for three days: it waits for the operator, and holds nothing back
    why      text not null default '',
    primary key (consumer, key, no)
) strict, without rowid;

-- At most 10,000 events of a consumer are not parked.
create index event_holds_waiting on event_holds (consumer, key, no) where not parked;
create index event_holds_due on event_holds (consumer, next_at) where not parked;
create index event_holds_parked on event_holds (consumer, no) where parked;
create index event_holds_pruned on event_holds (id) where parked;

-- Users that were told in the last minute that there is news, although they have no socket: what they are told next. A row of a user.
create table offline_news (
    bucket  integer not null,
    user_id text not null,
    room_id text not null,    -- of the newest entry
    seq     integer not null,
    row_id  integer not null, -- id of the row of events that refers to it
    reason  text not null,
    count   integer not null, -- entries that the user was not told of yet
    due_at  integer not null, -- when the user is told of them
    primary key (bucket, user_id)
) strict, without rowid;

create index offline_news_due on offline_news (due_at);

-- What users have reported to the host. Rows of the user that reports. They hold no copies of entries.
create table reports (
    bucket      integer not null,
    id          text not null,
    reporter    text not null,
    key         text not null,
    hash        blob not null,
    kind        text not null check (kind in ('message', 'packet', 'person')),
    about       text not null, -- the user that is reported, or that has sent the entry
    room_id     text not null default '',
    seq         integer not null default 0,
    packet_id   text not null default '',
    reason      text not null,
    words       text not null default '',
    at          integer not null,
    state       text not null default 'open' check (state in ('open', 'resolved', 'appealed')),
    outcome     text not null default '',
    cause       text not null default '',
    note        text not null default '',
    resolved_by text not null default '',
    resolved_at integer not null default 0,
    appeal_by   text not null default '', -- the user that has appealed against the outcome; '': nobody
    appeal      text not null default '',
    appealed_at integer not null default 0,

    seen_by_about integer not null default 0, -- 1: the outcome is or was acted, so the user in about may know of it
    primary key (bucket, id)
) strict, without rowid;

create unique index reports_key on reports (bucket, reporter, key);
create unique index reports_open on reports (bucket, reporter, kind, about, room_id, seq) where state = 'open';
create index reports_list on reports (state, id);
create index reports_id on reports (id);
create index reports_by on reports (bucket, reporter, id);
create index reports_about on reports (about) where words || appeal <> '';
create index reports_against on reports (about, id) where seen_by_about = 1;
create index reports_appeals on reports (appeal_by) where appeal <> '';

-- What an operator reads after an attack: see package store/security. Rows are only added, and deleted after 90 days
-- or later. The triggers refuse what a mistake or an
-- injected statement would change; a writer of the file can remove the triggers.
create table admin_acts (
    id         text primary key,
    at         integer not null,
    instance   text not null,
    actor      text not null,           -- user id of the administrator, or key/ and the name of an API key
    person     text not null default '', -- the user of the console that has used the key
    client     text not null,           -- address
    method     text not null,
    request    text not null,           -- JSON, cut to 2000 bytes
    request_id text not null default '',
    reason     text not null default '' -- why it was done
) strict;

create index admin_acts_at on admin_acts (at);

-- Grabs that got no share, for 7 days: see package store/trail.
create table refusals (
    no        integer primary key,
    packet_id text not null,
    user_id   text not null,
    why       text not null,    -- empty, expired, or the error that the user got
    at        integer not null, -- of the first such grab
    unique (packet_id, user_id, why)
) strict;

create index refusals_user on refusals (user_id, at, packet_id, why);
create index refusals_packet on refusals (packet_id, at, user_id, why);
create index refusals_at on refusals (at);

-- When sockets of users were opened and how they ended, for 7 days: see package store/trail.
create table sockets (
    no      integer primary key,
    user_id text not null,
    socket  text not null,
    at      integer not null,
    what    text not null, -- opened, left, lost or closed
    code    integer not null  -- of closed: the close code
) strict;

create index sockets_user on sockets (user_id, at, no);
create index sockets_at on sockets (at);

-- Figures of each instance for the charts of the console, one row for five minutes, for a day: see package store/chart.
create table figures (
    at        integer not null, -- when the five minutes began
    instance  text not null,
    sockets   integer not null,
    delivered integer not null,
    won       integer not null,
    missed    integer not null,
    failed    integer not null,
    p99_us    integer not null, -- of grabs that won; 0: none did
    open      integer not null, -- packets; -1: unknown
    escrow    integer not null, -- -1: unknown
    primary key (at, instance)
) strict, without rowid;

create table security_counts (
    minute   integer not null, -- its start
    instance text not null,
    kind     text not null,
    origin   text not null,    -- part of an address, or a user id; "others": beyond the bound of names a minute
    count    integer not null,
    primary key (minute, instance, kind, origin)
) strict, without rowid;

create trigger admin_acts_unchanged before update on admin_acts begin select raise(abort, 'rows of admin_acts are only added'); end;
create trigger admin_acts_stay before delete on admin_acts
    when old.at > unixepoch() * 1000 - 89 * 86400000 begin select raise(abort, 'rows of admin_acts are only added'); end;
create trigger security_counts_unchanged before update on security_counts begin select raise(abort, 'rows of security_counts are only added'); end;
create trigger security_counts_last before delete on security_counts
    when old.minute > unixepoch() * 1000 - 29 * 86400000 begin select raise(abort, 'rows of security_counts are only added'); end;
