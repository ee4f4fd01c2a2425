-- Which memberships a user has chosen, which users may contact a user, and which users a user has blocked.

-- chosen: the user created, joined or opened the room, or has written into it. Of older memberships it is unknown: they count as chosen.
alter table members add column chosen integer not null default 1;

-- contact: which users may open a direct room with the user and put the user into rooms.
alter table users add column contact text not null default 'everyone' check (contact in ('everyone', 'shared', 'nobody'));

-- A user's row: user_id has blocked the user blocked.
create table blocks (
    user_id text not null,
    blocked text not null,
    at      integer not null,
    known   integer not null default 0, -- user_id knew blocked then, so it may see the name
    primary key (user_id, blocked)
) without rowid;
