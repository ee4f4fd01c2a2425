-- Open packets of deleted rooms are closed early: this finds them. A file of its own, so that rooms can be used while it is built.

create index packets_room on packets (room_id, id) where status = 'open';
