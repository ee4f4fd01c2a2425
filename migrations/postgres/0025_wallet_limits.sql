-- A frozen wallet receives, and never spends. 0: not frozen.
alter table wallets add column frozen_at bigint not null default 0;

-- What its user may send and receive a day, in amounts and in packets. null: as the settings say; -1: without a limit.
alter table wallets add column limit_sent bigint;
alter table wallets add column limit_received bigint;
alter table wallets add column limit_packets bigint;
