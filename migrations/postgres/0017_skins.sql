-- The drawing on the envelope of a packet; empty: the plain envelope.
alter table packets add column skin text not null default '';
