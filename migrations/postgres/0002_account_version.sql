-- version is raised by every write to the row, so that of two balances a client can tell which one is newer. 0: not written since this
-- column is there.
-- sends counts the packets that the user has sent since then, beside the seed and beside the balance: where both counts are the same,
-- the seed and the balance that a statement has read are of the same moment.
alter table users add column sends bigint not null default 0;
alter table wallets add column version bigint not null default 0, add column sends bigint not null default 0;
