-- version is raised by every write to the row, so that of two balances a client can tell which one is newer. 0: not written since this
-- column is there.
alter table wallets add column version integer not null default 0;
