-- Open packets of deleted rooms are closed early: this finds them.

create index packets_room on packets (room_id, id) where status = 'open';
