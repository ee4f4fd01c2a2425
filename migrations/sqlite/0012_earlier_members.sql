-- Packets that only users may grab that were members before.

-- joined_seq: the last seq of the room when the user became a member. 0: at the beginning, or before this column was there.
alter table members add column joined_seq integer not null default 0;

alter table packets add column earlier_members integer not null default 0;
