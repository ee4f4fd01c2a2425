-- The event stream: see package store/eventlog. A transaction adds one row, which refers to the facts that it has written.

create table events (
    chain integer not null, -- always 0: there is one writer, so all rows are serial
    id    integer not null,
    at    integer not null,
    refs  blob not null,    -- JSON: references, no texts of users
    primary key (chain, id)
) strict, without rowid;

-- How far the stream had come at a time. All rows up to the oldest mark are deleted, or will be soon, and are never read again.
create table event_marks (
    id integer primary key,
    at integer not null
) strict;
