-- Invite links of rooms, and users that ask to enter by a link that needs approval.

create table invite_links (
    room_id    text not null,
    id         text not null,    -- hash of the part of the code after the room: the table alone lets nobody in
    creator    text not null,
    created_at integer not null,
    expires_at integer not null,
    max_uses   integer not null, -- 0: any number
    uses       integer not null default 0,
    approval   integer not null default 0,
    primary key (room_id, id)
) without rowid;

create table join_requests (
    room_id text not null,
    user_id text not null,
    at      integer not null,
    primary key (room_id, user_id)
) without rowid;
