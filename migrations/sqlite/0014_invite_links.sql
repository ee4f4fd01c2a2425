-- Invite links of rooms.

create table invite_links (
    room_id    text not null,
    id         text not null,    -- hash of the secret in the link's code: the table alone lets nobody in
    creator    text not null,
    created_at integer not null,
    expires_at integer not null,
    max_uses   integer not null, -- 0: any number
    uses       integer not null default 0,
    primary key (room_id, id)
) without rowid;
