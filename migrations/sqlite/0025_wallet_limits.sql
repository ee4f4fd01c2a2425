-- A frozen wallet receives, and never spends. 0: not frozen.
alter table wallets add column frozen_at integer not null default 0;

-- What its user may send and receive a day, in amounts and in packets. null: as the settings say; -1: without a limit.
alter table wallets add column limit_sent integer;
alter table wallets add column limit_received integer;
alter table wallets add column limit_packets integer;
