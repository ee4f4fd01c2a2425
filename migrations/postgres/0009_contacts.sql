-- Which memberships a user has chosen, which users may contact a user, and which users a user has blocked.

-- chosen: the user created, joined or opened the room, or has written into it. Of older memberships it is unknown: they count as chosen.
alter table members add column chosen boolean not null default true;

-- contact: which users may open a direct room with the user and put the user into rooms.
alter table users add column contact text collate "C" not null default 'everyone' check (contact in ('everyone', 'shared', 'nobody'));

-- A user's row: user_id has blocked the user blocked.
create table blocks (
    user_id text collate "C" not null,
    blocked text collate "C" not null,
    at      bigint not null,
    known   boolean not null default false, -- user_id knew blocked then, so it may see the name
    primary key (user_id, blocked)
);
