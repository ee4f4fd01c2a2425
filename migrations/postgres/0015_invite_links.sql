-- Invite links of rooms, and users that ask to enter by a link that needs approval.

create table invite_links (
    room_id    text collate "C" not null,
    id         text collate "C" not null, -- hash of the part of the code after the room: the table alone lets nobody in
    creator    text collate "C" not null,
    created_at bigint not null,
    expires_at bigint not null,
    max_uses   integer not null,          -- 0: any number
    uses       integer not null default 0,
    approval   boolean not null default false,
    primary key (room_id, id)
);

create table join_requests (
    room_id text collate "C" not null,
    user_id text collate "C" not null,
    at      bigint not null,
    primary key (room_id, user_id)
);
