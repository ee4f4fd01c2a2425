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
