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
    about       text not null,            -- the user that is reported, or that has sent the entry
    room_id     text not null default '',
    seq         integer not null default 0,
    packet_id   text not null default '',
    reason      text not null,
    words       text not null default '',
    at          integer not null,
    state       text not null default 'open' check (state in ('open', 'resolved')),
    outcome     text not null default '',
    note        text not null default '',
    resolved_by text not null default '',
    resolved_at integer not null default 0,
    primary key (bucket, id)
) strict, without rowid;

create unique index reports_key on reports (bucket, reporter, key);
create unique index reports_open on reports (bucket, reporter, kind, about, room_id, seq) where state = 'open';
create index reports_list on reports (state, id);
create index reports_id on reports (id);
