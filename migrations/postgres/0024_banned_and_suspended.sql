-- Banned users of a room and suspended users are few, and are listed without reading all others.

create index members_banned on members (room_id, user_id) where banned;
create index users_suspended on users (id) where suspended_at > 0;
