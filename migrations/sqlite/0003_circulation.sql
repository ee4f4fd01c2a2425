-- Money in circulation: all credits from outside less all debits. Every credit and debit changes its only row. Programs of the
-- version before do not: when none of them runs any more, "hongbao migrate" counts it anew.
create table circulation (
    id     integer primary key default 1 check (id = 1), -- there is one row
    amount integer not null
) strict;

insert into circulation (amount)
select coalesce(sum(iif(kind = 'credit', amount, -amount)), 0) from transfers where key is not null;
