"""Where does it live?"""
