-- Users that were told in the last minute that there is news, although they have no socket: what they are told next. A row of a user.
create table offline_news (
    bucket  smallint not null,
    user_id text collate "C" not null,
    room_id text collate "C" not null, -- of the newest entry
    seq     bigint not null,
    row_id  bigint not null,           -- id of the row of events that refers to it
    reason  text not null,
    count   integer not null,          -- entries that the user was not told of yet
    due_at  bigint not null,           -- when the user is told of them
    primary key (bucket, user_id)
) with (fillfactor = 70);

create index offline_news_due on offline_news (due_at);
