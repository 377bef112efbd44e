"""Passwords that are told in other languages than English go as they do in English, and talk about passwords stays."""

from __future__ import annotations

import pytest

from vector_memory.redact import clean

TOLD = """
The password for the lab server is {}.
Das Passwort für den Laborserver ist {}.
kennwort {}
Das Passwort von Anna heißt {}
La contraseña del servidor es {}.
contraseña {}
Le mot de passe du serveur est {}.
mot de passe {}
A senha do servidor é {}.
a palavra-passe é {}
La password del server è {}.
la parola d'ordine è {}
Hasło do serwera: {}.
Hasło: {}
Пароль от сервера: {}.
Пароль: {}
Sunucunun şifresi {}.
test veritabanının parolası {}, kullanıcı adı da muhasebe
サーバーのパスワードは{}です。
パスワード: {}
服务器的密码是{}。
口令是{}
서버 비밀번호는 {} 입니다.
서버 비밀번호는 {}입니다.
Het wachtwoord van de server is {}.
"""
IN_SENTENCES = """
관리자 비밀번호를 {}으로 변경했습니다.
새 비밀번호는 {}고 내일부터 써야 해
비밀번호를 「{}」로 설정해 주세요
아이디 root, 비밀번호 {}
パスワードを{}に変更しました
パスワードは、{}です
新しいパスワードは『{}』になりました
ログインはadmin、パスワードは{}でお願いします
密码改成{}了
用户名admin,密码{}
WiFi密码是{},记一下
用密码{}登录
新密码:「{}」
数据库密码为{}(生产库)
パスワードは {}(本番)
비밀번호는 {}(운영)
mudei a senha do banco para {} ontem
a senha agora é {}
usa a senha {} para entrar
cambié la contraseña a {}
usa {} como contraseña
la contraseña quedó en {}
le mot de passe du serveur a été changé en {}
connecte-toi avec le mot de passe « {} »
ho cambiato la password del server in {}
usa {} come password
Das Passwort wurde auf {} geändert
das Kennwort ist ab sofort {}
zmieniłem hasło na {}
поменял пароль на {}
mudei a senha do db01 para {} ontem
ich habe das Passwort von srv-web01 auf {} geändert
le mot de passe de srv01 a été changé en {}
zmieniłem hasło do db2 na {}
поменял пароль от db2 на {}
密码在12月1日改成{}了
密码(srv01)改成{}了
비밀번호를 12월 1일에 {}로 변경했어
mudei a senha do db01 para `{}`
Das Passwort wurde auf `{}` geändert
密码改成`{}`了
パスワードを`{}`に変更しました
Das Passwort wurde auf **{}** geändert
usa **{}** como contraseña
密码改成**{}**了
我把密码现在改为「{}」
密码(生产):「{}」
密码是:「{}」
パスワードは今日から{}です
비밀번호는 오늘부터 {}야
비밀번호는 이제 {}예요
la contraseña ahora es {}
a senha agora é {}
密码是: {}
密码是「{}」请妥善保管
密码为「{}」,请尽快修改
das Passwort wird _{}_ sein
"""
SAID = """
비밀번호는 DB_PASSWORD에 있어
비밀번호를 bcrypt로 바꿨어
비밀번호를 SHA-256으로 암호화했습니다
비밀번호는 AuthService12에 저장됩니다
비밀번호 변경은 PR #4821에서 했어
パスワードは.env.localにあります
パスワードはAuthService12に保存します
パスワードをv2.3.1から必須にした
密码用 SHA-256 加密
密码保存在AuthService12中
密码由Keycloak24管理
用户名,密码,ResetForm42
a senha fica em DB_PASSWORD
mudei a senha para argon2id
a senha é salva em AuthService12
cambié la contraseña a bcrypt12
j'ai changé le champ mot de passe en varchar255
ho cambiato la password in argon2id
das Passwort steht in .env.local
das Passwort auf srv-web01 wurde geändert
das Passwort von srv-web01 steht auf WikiPage22
das Passwort von srv-web01 ist falsch, wir haben LoginTest33 geändert
mudei a senha do db01 e o teste LoginTest33
das Passwort ist falsch. Der Test ist LoginTest33
We changed the password in LoginTest33 and it passes
the tests pass in LoginTest33 after we changed it
Das Passwort ist abgelaufen.
Das Passwort für db-prod7 ist abgelaufen.
Die Passwörter werden mit Argon2id gehasht, das Kennwort selbst steht nirgends.
Das Kennwort liegt im Keychain4J und wird nie geloggt.
La contraseña es obligatoria y tiene 12 caracteres.
La contraseña del usuario es validada en el formulario LoginForm2.
La clave es usar PostgreSQL16 en lugar de SQLite3.
Le mot de passe est obligatoire depuis la v2.3.
Le mot de passe de l'utilisateur est haché avec Argon2id.
Le test passe en 12ms avec Node20-alpine.
A senha é obrigatória.
A senha para db-prod7 é rotacionada por mês.
La parola chiave è async, la parola d'ordine è semplicità.
Hasło dla użytkownika anna2024 wygasło.
Hasło: minimum 12 znaków, jedna cyfra.
Пароль от сервера db-prod7 устарел.
Пароль хранится как хеш SHA256 в PostgreSQL16.
Şifre yanlış.
Kullanıcının şifresi PBKDF2 ile saklanıyor, şifreleme Argon2id.
密码是必填的。
密码是用Argon2id加密的，长度至少12位。
我们使用Redis7做缓存，登录服务在db-prod7上。
パスワードはArgon2idでハッシュ化します。
パスワードはOAuth2に置き換えました。
비밀번호는 Argon2id로 저장합니다.
비밀번호는 필수입니다.
mdp = "FrozenLake8x8-v1"
Train on mdp: FrozenLake8x8-v1 with gamma 0.99
python train.py --mdp CartPole-v1 --steps 1000
mdp=GridWorld4x4
the mdp is GridWorld4x4 with 16 states
mdp GridWorld64 converges
mdp: Argon2id
La parola è TreeMap2 nel glossario.
la parola "Kubernetes1.29" va in grassetto
La clave del mapa es userId2Name
clave: UserId_2024
La clave primaria es OrderId2
la clave para Redis es session:v2:UserId
clave UserProfile42
La clave i18n es loginTitle2
senha ResetForm2024
A tela de senha ResetPage42 quebrou
Das Kennwort in LoginForm2 ist leer
Das Passwort wird in PasswordService2 geprüft
密码是UserPassword2字段
密码 OrderForm42 字段
密码是PasswordField2。
密码为SHA256摘要
密码字段是user_pwd2
パスワードはUserPass2です
パスワードは8文字以上です。
パスワードはPBKDF2です。
パスワードはArgon2idです。
口令是SSO2登录
암호는 AES256 입니다
암호는 AES-256-GCM 입니다
암호는 Argon2id 입니다.
비밀번호는 PBKDF2입니다
şifresi AES256 ile saklanıyor
parolası PostgreSQL16 üzerinde
Пароль от LoginForm22 это поле
пароль LoginActivity25 падает
пароль OrderActivity25 падает
le mot de passe est Argon2id
contraseña LoginController42 falla
contraseña OrderController42 falla
contraseña: Argon2id
kennwort = Argon2id
Key: AES-256
password: PBKDF2-SHA256
mudei a senha para **argon2id**
mudei a senha para sha512crypt
mudei a senha para feature/PROJ-123#4
usa sha512crypt como contraseña
cambié la contraseña a useSSL=1&retry=2
das Passwort wurde auf **Argon2id** umgestellt
das Passwort wird base64-kodiert
das Passwort wird AES256-verschlüsselt abgelegt
das Passwort bleibt 90-tage gültig
la contraseña será v2-compatible
密码用**SHA-256**加密
密码保存在**LedgerPool42**里
密码保存在AuthService12中，LedgerPool42。
修改密码接口 http://10.0.0.5:8080/api/user?id=1
密码问题见 PR#4821-fix!
密码正则 ^[A-Z0-9]{8,}$
密码字段叫 "user_pwd2"
密码表的列名是「password_v2」
密码文件是 "conf/app-v2.yml"
密码错误 "E1002x"
密码哈希用 "scrypt-v2" 方案
密码字段改成LedgerPool42了
密码位置是 LedgerPool42。
密码逻辑在 LedgerPool42。
密码由LedgerPool42登录时校验
密码用「LedgerPool42」请求校验
密码是LedgerPool42请求校验
パスワードは「LedgerPool42」テーブルにある
a senha agora é obrigatória no LoginForm2
la contraseña ahora es argon2id
密码用LedgerPool42登录模块校验
密码(必填) LedgerPool42
パスワードは「user_v2」テーブルにある
密码是 checkLogin22() 的返回值
密码是 validate_pw2(x)
密码校验用 UserRepo22(见文档)
비밀번호를 UserRepo22(본사)에서 바꿔
パスワードはhttps://x.dev/a?b=2で変更
パスワード対応は feature/PROJ-123#4 で
パスワード画面 LedgerPool42。
パスワードはLedgerPool42にないと変更できない
パスワードはLedgerPool42になるまで
パスワードをv2.3.1に変更
パスワードはLedgerPool42に変換する
비밀번호는 LedgerPool42로직에서 검사해
비밀번호는 LedgerPool42로 검사해
비밀번호는 LedgerPool42다른 곳에 있어
비밀번호 관련은 m2026add, 로그인은 따로
"""
NAMED = """
parola: HelloWorld99
parola chiave: async2Await
La parola per OAuth2 è "Autorizzazione2"
clave foránea Order2Item42
Das Passwort ResetFormular22 ist kaputt
Das Passwort RechnungsFormular22 ist kaputt
Das Passwort PasswordInput42 rendert zweimal
Hasło ResetForm2024 nie działa
密码 UserPassword42 字段
密码是 bcrypt2Hash
şifre ResetForm2024 ekranı bozuk
пароль ResetForm2024 сломан
mot de passe ResetForm2024 est cassé
wachtwoord ResetForm2024 werkt niet
heslo: ResetForm2024
"""
VALUES = ("Tulpe" + "Regen88", "Xk9!" + "tulpe#Q")
MORE = ("kaze" + "2841hana", "tulpe." + "regen88!")


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "talk",
    TOLD.strip().splitlines(),
)
def test_a_password_goes(talk: str, value: str) -> None:
    """Whatever its name is, what it is for, and what says that it comes."""
    cleaned = clean(talk.format(value)).text
    assert cleaned.rstrip(".") == talk.format("[redacted:password]").rstrip(".")


@pytest.mark.parametrize("value", [*VALUES, *MORE])
@pytest.mark.parametrize("talk", IN_SENTENCES.strip().splitlines())
def test_a_password_in_a_sentence_goes(talk: str, value: str) -> None:
    """It is changed to one, used with one, in quotes of its language, and what is said goes on behind it."""
    assert clean(talk.format(value)).text == talk.format("[redacted:password]")


@pytest.mark.parametrize("quote", ['"', "'", "`", ""])
@pytest.mark.parametrize(
    "talk",
    ["密码是{} 请记住", "root密码为 {}，别外传", "パスワードは {} と入力", "새 비밀번호는 {}"],
)
def test_a_value_behind_what_is_spoken_of(talk: str, quote: str) -> None:
    """In any quotes, of letters alone too, whatever is said behind it; without quotes a value with a digit."""
    value = quote + ("tiger77" if not quote else "open") + "sesame" + quote
    assert clean(talk.format(value)).redactions == 1
    for said in ("bcrypt", "UserPassword2字段"):
        assert clean(talk.format(said)).redactions == 0


@pytest.mark.parametrize("name", ["veritabanının parolası", "mot de passe", "пароль", "Kennwort"])
def test_words_written_together_right_behind_its_name(name: str) -> None:
    """They are one with a number behind them, in letters of any kind; what a service or a program is called is none."""
    assert "48" not in clean(f"{name} " + "Kiraz" + "Dalı48, muhasebe").text
    for told in ("Яндекс360", "PostgreSQL16", "KeePass2", "OAuth2", "Reset"):
        assert clean(f"{name} {told}").redactions == 0


def test_a_code_of_digits_goes() -> None:
    """A PIN by its Japanese name; digits that count something stay."""
    assert (
        clean("ロッカーの暗証番号は4711です。").text == "ロッカーの暗証番号は[redacted:pin]です。"
    )
    for said in ("暗証番号は4711文字以上", "暗証番号の期限は2026。"):
        assert clean(said).redactions == 0


@pytest.mark.parametrize(
    "talk",
    SAID.strip().splitlines(),
)
def test_talk_about_passwords_stays(talk: str) -> None:
    """What is said of passwords, and names of programs and machines beside them, loses no word."""
    for told in (talk, f"User: {talk}\nAssistant: OK."):
        assert clean(told).redactions == 0


@pytest.mark.parametrize(
    "value", ["Sha256!" + "#x", "Aes" + "77tulpe", "Hash" + "123Hash", "d1" + "2d33"]
)
def test_what_only_begins_like_a_cipher_goes(value: str) -> None:
    """The name of one has nothing else in it."""
    assert clean(f'password: "{value}"').redactions == 1


@pytest.mark.parametrize("end", ["", ".", ", bitte nicht teilen", "\nDanke", " (neu)", "! Danke"])
def test_words_written_together_at_the_end_of_what_is_said(end: str) -> None:
    """There nothing says that they are a name of something else."""
    value = "Kiraz" + "Dali48"
    assert value not in clean(f"kennwort {value}{end}").text
    assert clean(f"kennwort {value}: leer").redactions == 0


@pytest.mark.parametrize("talk", NAMED.strip().splitlines())
def test_names_of_code_behind_a_word_for_passwords_stay(talk: str) -> None:
    """What is called so is no password, nor is what stands behind words that mean other things besides."""
    assert clean(talk).redactions == 0
