-- What cutting a text again needs: how it is marked up ('plain', 'markdown'; '' of before), and what it says of itself (JSON).
ALTER TABLE documents ADD COLUMN markup TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
