-- Which members may invite, and whether guests can enter.

-- invite: '' stands for what is usual for the kind (chat.RoomKind.Inviters). So in older private rooms, too, only admins invite from now on.
alter table rooms add column invite text not null default '' check (invite in ('', 'members', 'admins'));

alter table rooms add column guests integer not null default 1;
