-- A user may have a limited number of open packets: this counts them. A file of its own, so that rooms can be used while it is built.
-- done_seq is null while a packet is open. No other query asks for that, so none can take this index instead of its own.

create index packets_open_sender on packets (sender) where done_seq is null;
