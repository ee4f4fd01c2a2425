-- What a member has decided about a room for all own devices.

alter table members add column silent boolean not null default false;
alter table members add column pinned boolean not null default false;

-- archived_no: rooms.content_no when the member archived the room; -1: the room is not archived. A room with later content is in the list again.
alter table members add column archived_no bigint not null default -1;
