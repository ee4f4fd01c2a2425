-- What a member has decided about a room for all own devices.

alter table members add column silent integer not null default 0;
alter table members add column pinned integer not null default 0;

-- archived_no: rooms.content_no when the member archived the room; -1: the room is not archived. A room with later content is in the list again.
alter table members add column archived_no integer not null default -1;
